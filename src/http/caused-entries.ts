import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor, Store } from '../store/store.ts';
import type { AuditedCall } from './audited-call.ts';

/**
 * The audited call that is at work, known to all that it waits for. So the store learns through which call a change
 * comes, and what lies between (credentials, the policy) knows of no requests.
 */
const atWork = new AsyncLocalStorage<AuditedCall>();
/** Owned here: calls at work. Between them nothing is tracked, which would cost every await 0.3 µs. */
let calls = 0;

/** Does the work of a call. Of those that change nothing, or are not audited, nothing is known. */
export async function during<T>(call: AuditedCall | undefined, work: () => T | Promise<T>): Promise<T> {
  if (call === undefined || call.as === 'read') return work();
  calls++;
  try {
    return await atWork.run(call, work);
  } finally {
    if (--calls === 0) atWork.disable();
  }
}

/** The call at work has caused these entries, which do not come through the store. */
export function caused(entryIds: readonly string[]): void {
  atWork.getStore()?.noteEntries(entryIds);
}

/** What the call at work does must be logged: it gets a record of its own. */
export function toBeLogged(): void {
  const call = atWork.getStore();
  if (call !== undefined) call.countedAlone = true;
}

/** The same store, which is told through which call its changes come. */
export function toldOfCalls(store: Store): Store {
  const call = () => atWork.getStore()?.id;
  const acting = ({ id, name }: Actor): Actor => {
    const through = call();
    return through === undefined ? { id, name } : { id, name, call: through };
  };
  return {
    ...store,
    changeAlert: (id, change, by, version) => store.changeAlert(id, change, acting(by), version),
    record: (event, id) => store.record(event, id, call()),
    createPrincipal: (principal, by) => store.createPrincipal(principal, acting(by)),
    changePrincipal: (id, change, by, terms) => store.changePrincipal(id, change, acting(by), terms),
    addToken: (token, by) => store.addToken(token, acting(by)),
    rotateSession: (jti, expectedHash, newHash, by) =>
      store.rotateSession(jti, expectedHash, newHash, acting(by)),
    revokeToken: (jti, by) => store.revokeToken(jti, acting(by)),
  };
}
