/** Prometheus' own parser and linter of metrics. scripts/with-system-tools.sh provides it. */
import { spawnSync } from 'node:child_process';

export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Returns the exit code of promtool for a text of metrics, and its output. */
export function checkMetrics(text: string): [number | null, string] {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return [status, stdout + stderr];
}
