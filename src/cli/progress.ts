import { Option } from 'commander';

export const progressOption = () =>
  new Option('--progress', 'tell on stderr how far it is (default: where that is a terminal)');

const intervalMs = 1000;

/** Tells on stderr, once a second, how many of all are done; on a terminal in one line. Undefined where unwanted. */
export function reporter(
  what: string,
  wanted = process.stderr.isTTY,
): ((done: number, total: number) => void) | undefined {
  if (!wanted) return undefined;
  const [begin, end] = process.stderr.isTTY ? ['\r\x1b[K', ''] : ['', '\n'];
  let started: { atMs: number; done: number } | undefined;
  let toldAtMs = 0;
  return (done, total) => {
    const nowMs = performance.now();
    started ??= { atMs: nowMs, done };
    const finished = done === total;
    if (!finished && nowMs - toldAtMs < intervalMs) return;
    toldAtMs = nowMs;
    const rate = (done - started.done) / ((nowMs - started.atMs) / 1000);
    const speed = Number.isFinite(rate) && rate > 0 ? `, ${Math.round(rate)}/s` : '';
    const text = `${what} ${done} of ${total}${speed}`;
    process.stderr.write(`${begin}${text}${finished && process.stderr.isTTY ? '\n' : end}`);
  };
}
