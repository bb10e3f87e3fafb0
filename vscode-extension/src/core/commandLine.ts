// What the user types to say what to run, split as a POSIX shell would split it: quotes and backslashes, and nothing
// else. No variables, globs or operators: the program is started directly, never through a shell.

export type CommandLine = { readonly words: readonly string[] } | { readonly problem: string };

export function parseCommandLine(text: string): CommandLine {
  const words: string[] = [];
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\' && quote !== "'") {
      const next = text.charAt(++at);
      if (next === '') {
        return { problem: 'The text ends with a backslash; write \\\\ for a backslash itself.' };
      }
      // Inside double quotes a backslash is special only before these.
      word = (word ?? '') + (quote === '"' && !'"\\$`'.includes(next) ? '\\' + next : next);
    } else if (character === quote) {
      quote = undefined;
    } else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) {
        words.push(word);
        word = undefined;
      }
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== undefined) {
    return { problem: `A ${quote} is not closed.` };
  }
  if (word !== undefined) {
    words.push(word);
  }
  if (words.length === 0 || words[0] === '') {
    return { problem: 'Name a program to record.' };
  }
  return { words };
}

/** The text that `parseCommandLine` splits into these words again. */
export function formatCommandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
