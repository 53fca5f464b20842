import { methods } from '../rpc/methods.ts';
import type { Store } from './store.ts';

/** What the store worker exposes; the compiler proves it complete. */
export const storeMethods = methods<Store>()([
  'commit',
  'changeAlert',
  'addNote',
  'outbox',
  'record',
  'settle',
  'lastPlaces',
  'logAgain',
  'createPrincipal',
  'changePrincipal',
  'addToken',
  'rotateSession',
  'revokeToken',
  'noteTokenUse',
  'addAudit',
  'copyTo',
  'status',
  'close',
]);
