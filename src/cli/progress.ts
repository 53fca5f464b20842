import { Option } from 'commander';

export const progressOption = () =>
  new Option('--progress', 'report progress on stderr (default: if stderr is a terminal)');

const intervalMs = 1000;

/**
 * Returns a function that reports progress on stderr at most once a second, on a terminal in a single line; undefined
 * if progress is off.
 */
export function reporter(
  unit: string,
  wanted = process.stderr.isTTY,
): ((done: number, total: number) => void) | undefined {
  if (!wanted) return undefined;
  const [begin, end] = process.stderr.isTTY ? ['\r\x1b[K', ''] : ['', '\n'];
  let started: { atMs: number; done: number } | undefined;
  let reportedAtMs = 0;
  return (done, total) => {
    const nowMs = performance.now();
    started ??= { atMs: nowMs, done };
    const finished = done === total;
    if (!finished && nowMs - reportedAtMs < intervalMs) return;
    reportedAtMs = nowMs;
    const rate = (done - started.done) / ((nowMs - started.atMs) / 1000);
    const speed = Number.isFinite(rate) && rate > 0 ? `, ${Math.round(rate)}/s` : '';
    const text = `${unit} ${done} of ${total}${speed}`;
    process.stderr.write(`${begin}${text}${finished && process.stderr.isTTY ? '\n' : end}`);
  };
}
