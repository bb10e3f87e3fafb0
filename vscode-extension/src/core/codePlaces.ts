// Which words of a C or C++ text can be the name of a function.

/** What is no code: comments, and literals of strings and characters. An apostrophe within a number separates its digits. */
const noCode =
  /\/\/(?:\\\r?\n|[^\n])*|\/\*[^]*?(?:\*\/|$)|\b(?:u8|[uUL])?R"([^()\\\s]{0,16})\([^]*?(?:\)\1"|$)|"(?:\\[^]|[^"\\\n])*"?|(?<![0-9a-fA-F])'(?:\\[^]|[^'\\\n])*'?/g;

/** Whether the place is neither in a comment nor in a literal. */
export function isCode(text: string, offset: number): boolean {
  for (const { index, 0: found } of text.matchAll(noCode)) {
    if (index > offset) {
      return true;
    }
    if (offset < index + found.length) {
      return false;
    }
  }
  return true;
}

/** Whether what stands behind a name makes it a call, or a definition: "(", or arguments of a template and "(". */
export function isCalled(behind: string): boolean {
  return /^\s*(?:<[\w\s:,*&<>]*>\s*)?\(/.test(behind);
}
