// Text from a recording in Markdown.

/** A name cannot become markup, a link or an icon. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~&$]/g, (character) => `&#${character.charCodeAt(0)};`);
}
