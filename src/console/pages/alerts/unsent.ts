import { effect, signal } from '@preact/signals';
import { endedBecause, me, signedIn } from '../../state/session.ts';
import type { DialogRequest } from './asked.ts';

/**
 * Changes that failed, by user. The dialog of each change opens again when no other dialog is open, even if the user
 * left the page or the session expired in between. Signing out or reloading discards the changes.
 */
interface Unsent extends DialogRequest {
  readonly by: string;
}

const maxUnsent = 20;
const unsent = signal<readonly Unsent[]>([]);

effect(() => {
  if (!signedIn.value && endedBecause.value === undefined) unsent.value = [];
});

/** Returns the first unsent change of the current user. */
export const firstUnsent = (): DialogRequest | undefined => unsent.value.find(({ by }) => by === me.value?.id);

/** Keeps a failed change for retry. Returns false, and keeps nothing, if the user has signed out since. */
export function keepUnsent(request: DialogRequest, by: string): boolean {
  const now = me.peek()?.id;
  const isGone = signedIn.peek() ? now !== undefined && now !== by : endedBecause.peek() === undefined;
  if (!isGone) unsent.value = [...unsent.value, { ...request, by }].slice(-maxUnsent);
  return !isGone;
}

export function dropUnsent(request: DialogRequest): void {
  unsent.value = unsent.value.filter(({ key }) => key !== request.key);
}
