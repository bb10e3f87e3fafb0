// The fake daemon's run as the timeline has it, and a surface that remembers what was drawn.
import { timelineData } from '../../src/core/timeline/fromProtocol';
import { layOut } from '../../src/core/timeline/layout';
import type { TimelineData } from '../../src/core/timeline/model';
import type { Lane, Scene } from '../../src/core/timeline/scene';
import type { Stroke, Surface, Texture } from '../../src/core/timeline/surface';
import { shownThreads } from '../../src/core/timeline/threads';
import { GetTimelineRequest } from '../../src/protocol/longpole/v1/timeline';
import { fakeTimeline } from '../fake-daemon/fakeTimeline';

/** The fake daemon's small run. */
export function data(cpus: number, fromNs = 0, toNs = 0, pixels = 900): TimelineData {
  const cpuRows = Array.from({ length: cpus }, (_unused, cpu) => cpu);
  const request = GetTimelineRequest.create({ simulation: { cpus }, view: { fromNs, toNs, pixels }, listThreads: true, cpuRows });
  return timelineData(fakeTimeline(request, '/src/pipeline.c'));
}

/** A picture of it, of one lane. */
export function scene(shown: TimelineData, more: Partial<Scene> = {}, lane: Partial<Lane> = {}): Scene {
  const threads = shownThreads(shown.threads, { sortBy: 'number', hideIdle: true, picked: undefined });
  const layout = layOut({ width: 1100, height: 400, lanes: [{ rows: threads.length, scroll: 0 }] });
  const lanes = [{ title: 'one', cpus: 2, hasCpus: true, cpuTotals: shown.cpuRows, data: shown, overview: shown, threads, selection: undefined, found: undefined, ...lane }];
  return { layout, view: shown.view, lanes, colourBy: 'state', rowsAre: 'threads', marked: undefined, bright: true, ...more };
}

export class Recorder implements Surface {
  readonly filled: { xywh: readonly number[]; colour: string; texture: Texture }[] = [];
  readonly stroked: { segments: readonly number[]; stroke: Stroke }[] = [];
  readonly shapes: { points: readonly number[]; fill: string | undefined; clip: readonly number[] }[] = [];
  readonly texts: { x: number; y: number; text: string; longest: number | undefined }[] = [];
  private clip: readonly number[] = [];

  rects(xywh: readonly number[], colour: string, texture: Texture = 'solid'): void {
    for (let at = 0; at < xywh.length; at += 4) {
      this.filled.push({ xywh: xywh.slice(at, at + 4), colour, texture });
    }
  }
  lines(segments: readonly number[], stroke: Stroke): void {
    this.stroked.push({ segments, stroke });
  }
  polygons(shapes: readonly (readonly number[])[], fill: string | undefined): void {
    this.shapes.push(...shapes.map((points) => ({ points, fill, clip: this.clip })));
  }
  text(x: number, y: number, text: string, _style: unknown, longest?: number): void {
    this.texts.push({ x, y, text, longest });
  }
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const outer = this.clip;
    this.clip = [x, y, width, height];
    draw();
    this.clip = outer;
  }
  shifted(_x: number, _y: number, draw: () => void): void {
    draw();
  }
}
