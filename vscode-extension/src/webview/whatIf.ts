// The what-if panel's page: sliders, and what the extension says they bring. What is dragged is shown at once; the list is made anew
// only when there is another change in it, so that nothing takes a slider out of a hand.
import { changeKey, mostSplits, shortLabel, type Change, type FromWhatIf, type ToWhatIf } from '../core/whatIf';

declare function acquireVsCodeApi(): { postMessage(message: FromWhatIf): void };

const editor = acquireVsCodeApi();

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page lacks ${id}`);
  }
  return found;
}

const list = byId('changes');
const [add, keep, takeBack] = ['add', 'keep', 'takeBack'].map((id) => byId(id) as HTMLButtonElement);
let shown = '';

function element(tag: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}

function take(message: ToWhatIf): void {
  switch (message.kind) {
    case 'changes': {
      byId('title').textContent = message.title;
      const keys = message.changes.map(changeKey).join('\n');
      if (keys !== shown) {
        shown = keys;
        const focused = (document.activeElement as HTMLElement | null)?.dataset['key'];
        list.replaceChildren(...message.changes.map(row));
        const last = list.lastElementChild?.querySelector<HTMLElement>('input');
        const same = [...list.querySelectorAll<HTMLElement>('[data-key]')].find((one) => one.dataset['key'] === focused);
        (same ?? last)?.focus();
      }
      byId('empty').hidden = message.changes.length > 0;
      if (keep && takeBack) {
        keep.hidden = message.changes.length === 0 && message.kept === '';
        keep.disabled = message.isKept || message.changes.length === 0;
        takeBack.hidden = message.kept === '';
      }
      const kept = byId('kept');
      kept.hidden = message.kept === '';
      kept.textContent = message.kept === '' ? '' : `The editor shows the program as if: ${message.kept}. Its speed-ups there are against itself on one CPU.`;
      break;
    }
    case 'result': {
      byId('headline').textContent = message.headline;
      const result = byId('result');
      const focused = (document.activeElement as HTMLElement | null)?.dataset['cpus'];
      result.innerHTML = message.body;
      result.hidden = message.body === '';
      if (focused !== undefined) {
        result.querySelector<HTMLElement>(`[data-cpus="${CSS.escape(focused)}"]`)?.focus();
      }
      byId('note').textContent = message.note;
      byId('note').className = 'quiet';
      break;
    }
    case 'problem':
      byId('note').textContent = message.text;
      byId('note').className = 'problem';
      break;
  }
}

function row(change: Change): HTMLElement {
  const made = document.createElement('li');
  const remove = element('button', '✕', 'remove') as HTMLButtonElement;
  remove.type = 'button';
  const key = changeKey(change);
  remove.addEventListener('click', () => editor.postMessage({ kind: 'remove', key }));
  switch (change.kind) {
    case 'speed':
      made.append(...speedParts(change, key));
      remove.setAttribute('aria-label', `Remove ${shortLabel(change.label)}`);
      break;
    case 'freed':
      made.append(element('span', change.object, 'name'), element('span', 'nobody ever waits for it', 'wide'));
      remove.setAttribute('aria-label', `Remove ${change.object}`);
      break;
    case 'split':
      made.append(...splitParts(change, key));
      remove.setAttribute('aria-label', `Remove ${change.object}`);
      break;
  }
  remove.title = 'Remove';
  made.append(remove);
  return made;
}

function speedParts(change: Change & { kind: 'speed' }, key: string): HTMLElement[] {
  const name = element('span', shortLabel(change.label), 'name');
  name.title = change.label;
  const slider = document.createElement('input');
  slider.type = 'range';
  slider.min = '0';
  slider.max = '100';
  slider.value = String(change.percent);
  slider.dataset['key'] = key;
  slider.setAttribute('aria-label', `How much of its time ${shortLabel(change.label)} saves`);
  const amount = element('span', '', 'amount');
  const isFunction = !/^(thread|lock|line):/.test(change.part);
  const callees = document.createElement('input');
  callees.type = 'checkbox';
  callees.checked = change.withCallees;
  const figure = element('b', '');
  amount.append(figure, 'faster');
  if (isFunction) {
    const label = document.createElement('label');
    label.append(callees, 'with all it calls');
    amount.append(label);
  }
  const say = (): void => {
    figure.textContent = `${slider.value}%`;
    slider.setAttribute('aria-valuetext', `${slider.value}% of its time saved`);
  };
  const tell = (): void => {
    say();
    editor.postMessage({ kind: 'set', change: { ...change, percent: Number(slider.value), withCallees: callees.checked } });
  };
  slider.addEventListener('input', tell);
  callees.addEventListener('change', tell);
  say();
  return [name, slider, amount];
}

function splitParts(change: Change & { kind: 'split' }, key: string): HTMLElement[] {
  const into = document.createElement('input');
  into.type = 'number';
  into.min = '2';
  into.max = String(mostSplits);
  into.value = String(change.into);
  into.dataset['key'] = key;
  into.setAttribute('aria-label', `Into how many ${change.object} is split`);
  into.addEventListener('change', () => {
    const value = Math.min(mostSplits, Math.max(2, Math.round(Number(into.value)) || 2));
    into.value = String(value);
    editor.postMessage({ kind: 'set', change: { ...change, into: value } });
  });
  const label = element('span', 'split into ');
  label.append(into);
  return [element('span', change.object, 'name'), label, element('span', '')];
}

addEventListener('message', ({ data }: MessageEvent<ToWhatIf>) => take(data));
add?.addEventListener('click', () => editor.postMessage({ kind: 'add' }));
keep?.addEventListener('click', () => editor.postMessage({ kind: 'keep' }));
takeBack?.addEventListener('click', () => editor.postMessage({ kind: 'takeBack' }));
byId('result').addEventListener('click', (event) => {
  const cpus = (event.target as Element).closest<HTMLElement>('[data-cpus]')?.dataset['cpus'];
  if (cpus !== undefined) {
    editor.postMessage({ kind: 'cpus', cpus: Number(cpus) });
  }
});
editor.postMessage({ kind: 'ready' });
