import { useEffect, useRef } from 'preact/hooks';

/** What a key does here; `title` is what the help says. A key may be a sequence: `g a`. */
export interface KeyAction {
  readonly title: string;
  readonly run: () => void;
  /** Also where something is typed into. */
  readonly whileTyping?: boolean;
  /** Done again and again while the key is held. */
  readonly repeats?: boolean;
  /** Where the focus has to be for it. */
  readonly within?: (target: EventTarget | null) => boolean;
}
export type Keys = Readonly<Record<string, KeyAction>>;

interface Layer {
  keys: Keys;
  readonly name: string;
}

/** The last that was added is asked first: a dialog before its page, a page before the frame. */
const layers: Layer[] = [];
/** The first key of a sequence waits this long for the second, in milliseconds. */
const sequenceMs = 1000;
let first = '';
let firstAt = 0;

/** While the component is shown, these keys do this. `name` heads them in the help. */
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

/** Every key that does something now, innermost first. */
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
    // A sequence that somebody knows means more than its last key alone.
    const action = actionOf(sequence, event, typing) ?? actionOf(key, event, typing);
    if (action === undefined) {
      first = typing ? '' : key;
      firstAt = event.timeStamp;
      return;
    }
    // Enter and space mean what they mean on what has the focus.
    if ((key === 'enter' || key === 'space') && isPressable(event.target)) return;
    event.preventDefault();
    first = '';
    // A key that is held moves on and on; nothing is changed twice by it.
    if (!event.repeat || action.repeats === true) action.run();
  });
}

function actionOf(key: string, event: KeyboardEvent, typing: boolean): KeyAction | undefined {
  // What is open above everything hears its keys alone.
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
