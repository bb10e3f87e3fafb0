// Text of a recording inside HTML and SVG: function names hold angle brackets, and files are called what people like.

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
