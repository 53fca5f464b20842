import { VolumeQueue } from '../../src/files/volume-queue.ts';

/**
 * Returns the task queue of a volume that hangs until `answer` is called. On a busy machine, a task may exceed its
 * deadline even afterwards, so tests repeat the task.
 */
export async function hangingVolume(): Promise<{ readonly volume: VolumeQueue; answer(): void }> {
  const volume = new VolumeQueue('the volume', 200);
  let answer = () => {};
  await volume.run(() => new Promise<void>((resolve) => (answer = resolve))).catch(() => undefined);
  return { volume, answer: () => answer() };
}
