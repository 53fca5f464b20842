import { options } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The action of a key; `title` is its text in the help. A key may be a sequence: `g a`. */
export interface KeyAction {
  readonly title: string;
  readonly run: () => void;
  /** Whether the key is also active while typing in a field. */
  readonly whileTyping?: boolean;
  /** Whether the action runs repeatedly while the key is held. */
  readonly repeats?: boolean;
  /** Whether the action applies to the focused element. */
  readonly within?: (target: EventTarget | null) => boolean;
}
export type Keys = Readonly<Record<string, KeyAction>>;

interface Layer {
  keys: Keys;
  readonly name: string;
}

/** Layers of shortcut keys. The last layer takes precedence: a dialog over its page, a page over the frame. */
const layers: Layer[] = [];
/** Time allowed between the two keys of a sequence, in milliseconds. */
const sequenceMs = 1000;
let first = '';
let firstAt = 0;

/** Registers shortcut keys while the component is mounted. `name` is their heading in the help. */
export function useKeys(name: string, keys: Keys): void {
  const layer = useRef<Layer>({ keys, name });
  layer.current.keys = keys;
  useEffect(() => {
    const own = layer.current;
    layers.push(own);
    return () => {
      layers.splice(layers.indexOf(own), 1);
    };
  }, []);
}

/** Returns all registered keys, innermost layer first. */
export const shownKeys = (): readonly { name: string; keys: Keys }[] => [...layers].reverse();

const names: Readonly<Record<string, string>> = { ' ': 'space', ArrowUp: 'up', ArrowDown: 'down' };

function nameOf(event: KeyboardEvent): string {
  const key = names[event.key] ?? (event.key.length === 1 ? event.key : event.key.toLowerCase());
  return event.ctrlKey || event.metaKey ? `ctrl ${key.toLowerCase()}` : key;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const key = nameOf(event);
    const typing = isTyping(event.target);
    const sequence = event.timeStamp - firstAt < sequenceMs ? `${first} ${key}` : key;
    // A known sequence takes precedence over its last key alone.
    const action = actionOf(sequence, event, typing) ?? actionOf(key, event, typing);
    if (action === undefined) {
      first = typing ? '' : key;
      firstAt = event.timeStamp;
      return;
    }
    // Enter and space keep their usual function on a focused link, button or option.
    if ((key === 'enter' || key === 'space') && isPressable(event.target)) return;
    event.preventDefault();
    first = '';
    // Holding a key repeats only movement, never a change.
    if (!event.repeat || action.repeats === true) runAndRender(action.run);
  });
}

/** Runs an action and renders its changes immediately, because the next key acts on what is displayed. */
function runAndRender(run: () => void): void {
  const deferred = options.debounceRendering;
  const renders: (() => void)[] = [];
  options.debounceRendering = (render) => void renders.push(render);
  try {
    run();
  } finally {
    if (deferred === undefined) delete options.debounceRendering;
    else options.debounceRendering = deferred;
    for (const render of renders) render();
  }
}

function actionOf(key: string, event: KeyboardEvent, typing: boolean): KeyAction | undefined {
  // An open dialog handles all keys.
  const modal = document.querySelector('dialog[open]') !== null;
  for (const { keys, name } of [...layers].reverse()) {
    if (modal && !name.startsWith('Dialog')) continue;
    const action = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (action === undefined || (typing && action.whileTyping !== true)) continue;
    if (action.within === undefined || action.within(event.target)) return action;
  }
  return undefined;
}

const isPressable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, summary, [role=menuitem], [role=option]') !== null;
