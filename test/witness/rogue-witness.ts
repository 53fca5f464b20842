import { sign } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { cosignedMessage, encodeCosignature } from '../../src/tlog/cosignature.ts';
import { parseNote } from '../../src/tlog/note.ts';
import { type AddCheckpoint, parseAddCheckpoint } from '../../src/witness/add-checkpoint.ts';
import { signatureLine } from '../../src/witness/witness.ts';
import { type KeyPair, keyPair } from './test-log.ts';

type Answer = (response: ServerResponse, request: AddCheckpoint, key: KeyPair) => void;

/** Starts a `rogueServer` that is closed when the test ends. */
export async function rogueWitness(answer: Answer) {
  const rogue = await rogueServer(answer);
  onTestFinished(rogue.close);
  return rogue;
}

/** Starts a server in place of a witness, with configurable responses, until it is closed. */
export async function rogueServer(answer: Answer) {
  const key = keyPair('rogue.example/w', 4);
  const requests: AddCheckpoint[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += String(part)));
    request.on('end', () => {
      const parsed = parseAddCheckpoint(body);
      requests.push(parsed);
      answer(response, parsed, key);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, vkey: key.vkey, key, requests, close };
}

/** Returns a witness's cosignature of the note by this key and at this time, as a signature line. */
export function cosignature(note: string, key: KeyPair, timeMs = Date.now()): string {
  const { text } = parseNote(note);
  const timeS = Math.floor(timeMs / 1000);
  const raw = new Uint8Array(sign(null, cosignedMessage(timeS, text), key.private));
  const { name, keyId } = key.public;
  return signatureLine(text, { name, keyId, signature: encodeCosignature(timeS, raw) });
}
