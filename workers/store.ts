import { parentPort, workerData } from 'node:worker_threads';
import { expose } from '../src/rpc/expose.ts';
import { openStore, type StoreOptions } from '../src/store/lmdb/store.ts';
import { storeMethods } from '../src/store/methods.ts';

expose(parentPort!, storeMethods, openStore(workerData as StoreOptions));
