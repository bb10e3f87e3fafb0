// What the panel and the extension say to each other. Both sides are ours, but what the panel says is checked all the same where it
// leads to a file being opened or written.
import type { Item, Place, View } from './model';
import type { Packed } from './pack';
import type { ColourBy } from './theme';

export interface LaneInfo {
  /** "8 CPUs, linux" */
  readonly title: string;
  readonly cpus: number;
  /** Threads run on CPUs; else, they share them, or have one each. */
  readonly hasCpus: boolean;
  /** idleReason() */
  readonly idleReason: string;
  /** Lanes of the same recording have the same events. */
  readonly recording: string;
}

export type At = { readonly event: number } | { readonly timeNs: number };

export const steps = ['here', 'next', 'previous', 'nextSimilar', 'previousSimilar'] as const;
export type Step = (typeof steps)[number];

export interface DataRequest {
  readonly kind: 'data';
  /** Of the lanes that it is about; an answer to a question about other ones is thrown away. */
  readonly generation: number;
  readonly lane: number;
  readonly what: 'rows' | 'interval' | 'overview';
  readonly view: View;
  readonly pixels: number;
  /** Threads. */
  readonly rows: readonly number[];
  readonly cpus: readonly number[];
  /** Summaries tell what this colour needs, and no more. */
  readonly colourBy: ColourBy;
}

export interface ItemRequest {
  readonly kind: 'item';
  readonly generation: number;
  readonly lane: number;
  readonly thread: number;
  readonly at: At;
  readonly step: Step;
  /** Comes back with the answer. */
  readonly purpose: 'select' | 'follow' | 'keep';
}

/** What a thread calls in an interval. */
export interface CallsRequest {
  readonly kind: 'calls';
  readonly generation: number;
  readonly lane: number;
  readonly thread: number;
  /** When the thread is there, in the interval or nearest to it. */
  readonly timeNs: number;
  readonly view: View;
}

export type FromPanel =
  | { readonly kind: 'ready' }
  | DataRequest
  | ItemRequest
  | CallsRequest
  | { readonly kind: 'find'; readonly generation: number; readonly lane: number; readonly view: View; readonly pixels: number }
  | { readonly kind: 'open'; readonly place: Place }
  | { readonly kind: 'pick'; readonly threads: readonly PickThread[] }
  | { readonly kind: 'scheduler' | 'compare' | 'compareNot' | 'findNot' }
  | { readonly kind: 'save'; readonly format: 'png' | 'svg'; readonly content: string };

export interface PickThread {
  readonly thread: number;
  readonly name: string;
  readonly function: string;
  readonly picked: boolean;
}

export type ToPanel =
  /** The panel was asked for, so the keys are to be the picture's. */
  | { readonly kind: 'focus' }
  | {
      readonly kind: 'show';
      readonly generation: number;
      readonly title: string;
      readonly lanes: readonly LaneInfo[];
      /** What the user has to know of the scheduler; empty: nothing. */
      readonly remark: string;
      /** How long the run takes by the rest of the window; empty: it does not say. */
      readonly elsewhere: string;
    }
  | {
      readonly kind: 'data';
      readonly generation: number;
      readonly lane: number;
      readonly what: DataRequest['what'];
      /** Of TimelineData. */
      readonly data: Packed;
    }
  | {
      readonly kind: 'item';
      readonly generation: number;
      readonly lane: number;
      readonly purpose: ItemRequest['purpose'];
      readonly step: Step;
      /** undefined: there is none, and `problem` says why. */
      readonly item: Item | undefined;
      readonly problem: string;
    }
  /** In order of time, the first of them under way where the interval begins; of too many, the first. */
  | { readonly kind: 'calls'; readonly generation: number; readonly lane: number; readonly thread: number; readonly view: View; readonly calls: readonly Item[] }
  | {
      readonly kind: 'found';
      readonly generation: number;
      readonly lane: number;
      /** Of Found. */
      readonly found: Packed | undefined;
      readonly jump: boolean;
    }
  /** Some binding of threads to CPUs surely ends by then. */
  | { readonly kind: 'bound'; readonly generation: number; readonly lane: number; readonly ns: number }
  | { readonly kind: 'picked'; readonly threads: readonly number[] | undefined }
  | { readonly kind: 'problem'; readonly text: string };
