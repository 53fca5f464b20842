import { parentPort } from 'node:worker_threads';
import { openScanner } from '../src/discovery/open-scanner.ts';
import { scannerMethods } from '../src/discovery/scanner.ts';
import { expose } from '../src/rpc/expose.ts';

expose(parentPort!, scannerMethods, openScanner());
