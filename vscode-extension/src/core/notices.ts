// What is to be known about a recording, as it is said in an editor: the recording's own words are for whoever calls `longpole` by hand.

/** Those of a recording. */
export type Notices = readonly { readonly code: string }[];

/** Whether machines are simulated with the CPU time that their caches save or cost: it was recorded with turns. */
export function knowsCaches(notices: Notices): boolean {
  return notices.some(({ code }) => code === 'caches');
}

const words: readonly (readonly [RegExp, string])[] = [
  [/\brecord that one directly, or with --follow\b/g, 'record that one directly (Longpole: Record Another Program…)'],
  [/\bIf programs that it starts do, record with --follow\b/g, 'If a program that it starts does, record that one (Longpole: Record Another Program…)'],
  [/\bRecord with --lockstep N\b/g, 'Record with "lockstep": N in tasks.json'],
  [/\bwith --lockstep N\b/g, 'with "lockstep": N in tasks.json'],
];

export function noticeText(text: string): string {
  return words.reduce((said, [ofCommandLine, ofEditor]) => said.replace(ofCommandLine, ofEditor), text);
}

/** What is said of a program that a signal ended, with its name; `text`: that of the notice. */
export function endedBySignal(name: string, text: string): string {
  return text.replace(/^The program\b/, name);
}
