/** A worker thread with a proxy for an ssh-agent. The proxy damages responses to signature requests. */
import { connect, createServer, type Socket } from 'node:net';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

export const damages = [
  'none',
  'one byte at a time',
  'hangs',
  'closes at once',
  'refuses',
  'another type',
  'an empty frame',
  'a frame of 4 GiB',
  'a frame that is cut short',
  'bytes behind the frame',
  'a string longer than its frame',
  'another algorithm',
  'a signature of 63 bytes',
  'a flipped bit',
  'noise',
] as const;
export type Damage = (typeof damages)[number];

/**
 * Sends the damaged response. `frame` is the agent's response: length, type 14, string(string "ssh-ed25519",
 * string signature).
 */
function send(damage: Damage, frame: Buffer, to: Socket): void {
  const copy = Buffer.from(frame);
  if (damage === 'none') to.write(frame);
  if (damage === 'one byte at a time') void byBytes(frame, to);
  if (damage === 'closes at once') to.destroy();
  if (damage === 'refuses') to.write(Buffer.from([0, 0, 0, 1, 5]));
  if (damage === 'another type') to.write(Buffer.concat([frame.subarray(0, 4), Buffer.of(12), frame.subarray(5)]));
  if (damage === 'an empty frame') to.write(Buffer.alloc(4));
  if (damage === 'a frame of 4 GiB') to.write(Buffer.concat([Buffer.alloc(4, 0xff), frame.subarray(4)]));
  if (damage === 'a frame that is cut short') to.end(frame.subarray(0, 40));
  if (damage === 'bytes behind the frame') to.write(Buffer.concat([frame, Buffer.of(0)]));
  if (damage === 'a string longer than its frame') copy.writeUInt32BE(0xffff_ffff, 5);
  if (damage === 'another algorithm') copy.write('rsa-sha2-51', 13);
  if (damage === 'a flipped bit') copy[copy.length - 1]! ^= 1;
  if (damage === 'a signature of 63 bytes') to.write(shortened(frame));
  if (damage === 'noise') to.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
  if (!copy.equals(frame)) to.write(copy);
}

/**
 * Returns the frame with a signature one byte shorter, and adjusts the lengths of the frame, the blob and the
 * signature.
 */
function shortened(frame: Buffer): Buffer {
  const copy = Buffer.from(frame.subarray(0, -1));
  for (const at of [0, 5, 24]) copy.writeUInt32BE(copy.readUInt32BE(at) - 1, at);
  return copy;
}

async function byBytes(frame: Buffer, to: Socket): Promise<void> {
  for (const byte of frame) {
    to.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

if (!isMainThread && parentPort !== null && workerData?.mode !== undefined) {
  const { socket, to, mode } = workerData as { socket: string; to: string; mode: Int32Array };
  createServer((client) => {
    const agent = connect(to);
    client.on('data', (data) => agent.write(data));
    agent.on('data', (frame: Buffer) => {
      const damage = damages[Atomics.load(mode, 0)]!;
      if (frame[4] === 14) send(damage, frame, client);
      else client.write(frame);
    });
    for (const one of [client, agent]) {
      one.on('error', () => undefined);
      one.on('close', () => {
        client.destroy();
        agent.destroy();
      });
    }
  }).listen(socket, () => parentPort!.postMessage('ready'));
}
