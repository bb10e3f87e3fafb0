// ${variables} as launch.json and tasks.json have them.

/** The value of a variable by what stands between the braces; undefined when it is not known. */
export type Lookup = (name: string) => Promise<string | undefined>;

/**
 * The text with every ${variable} replaced. Values are taken as they are, not looked into again.
 *
 * @throws Error that names the variable which is not known.
 */
export async function expandVariables(text: string, lookup: Lookup): Promise<string> {
  let result = '';
  let rest = 0;
  for (const match of text.matchAll(/\$\{([^{}]*)\}/g)) {
    const value = await lookup(match[1] ?? '');
    if (value === undefined) {
      throw new Error(`\${${match[1]}} has no value here.`);
    }
    result += text.slice(rest, match.index) + value;
    rest = match.index + match[0].length;
  }
  return result + text.slice(rest);
}
