import { effect, signal } from '@preact/signals';
import { endedBecause, me, signedIn } from '../../state/session.ts';
import type { Asked } from './asked.ts';

/**
 * Answers that could not be sent, and whose. Each is asked again when no other question is open, also after one left the
 * alerts, or had to sign in anew; who signs out takes them along, and a reload forgets them.
 */
interface Unsent extends Asked {
  readonly by: string;
}

const maxUnsent = 20;
const unsent = signal<readonly Unsent[]>([]);

effect(() => {
  if (!signedIn.value && endedBecause.value === undefined) unsent.value = [];
});

/** The first of who is signed in. */
export const firstUnsent = (): Asked | undefined => unsent.value.find(({ by }) => by === me.value?.id);

/** False, and nothing is kept, where who answered has signed out since. */
export function keepUnsent(asked: Asked, by: string): boolean {
  const now = me.peek()?.id;
  const isGone = signedIn.peek() ? now !== undefined && now !== by : endedBecause.peek() === undefined;
  if (!isGone) unsent.value = [...unsent.value, { ...asked, by }].slice(-maxUnsent);
  return !isGone;
}

export function dropUnsent(asked: Asked): void {
  unsent.value = unsent.value.filter(({ key }) => key !== asked.key);
}
