import { methods } from '../rpc/methods.ts';
import type { Store } from './store.ts';

/** What the store worker exposes; the compiler proves it complete. */
export const storeMethods = methods<Store>()([
  'commit',
  'changeAlert',
  'addNote',
  'createAsset',
  'changeAsset',
  'removeAsset',
  'mergeAssets',
  'splitAsset',
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
  'saveScan',
  'recordScan',
  'addAudit',
  'changeRules',
  'copyTo',
  'status',
  'close',
]);
