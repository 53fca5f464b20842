import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Service } from '../../scripts/service.ts';
import { number } from '../page.ts';
import { cpuSeconds, rssAnonMiB } from '../peers/process-use.ts';
import { untilCounted } from '../until-counted.ts';
import type { Plan, Report } from './plan.ts';

export interface Loader {
  /** One at a time. Rejects when an answer was neither an acknowledgement nor a refusal. */
  run(plan: Plan): Promise<Report>;
  stop(): Promise<void>;
}

/** A process that ends when this one does, however it ends: its channel closes. */
export function startLoader(): Loader {
  const child = fork(new URL('./child.ts', import.meta.url), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // Times of no request are no number, which JSON has not.
    serialization: 'advanced',
  });
  let waiting: PromiseWithResolvers<Report> | undefined;
  child.on('message', (reply: { report: Report } | { error: string }) => {
    if ('error' in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.report);
  });
  child.on('exit', (code, signal) => waiting?.reject(new Error(`the load ended with ${code ?? signal}`)));
  return {
    run(plan) {
      waiting = Promise.withResolvers<Report>();
      child.send(plan);
      return waiting.promise;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

export interface Measured extends Report {
  /** Until all of it was detected on and counted, too. */
  readonly countedS: number;
  /** CPU of the service until then. */
  readonly serviceCpuS: number;
  readonly peakRssAnonMiB: number;
}

/**
 * Follows the plan, and looks at the service until it has detected on and counted all of it: a service acknowledges what is
 * on disk, and what it puts off would else not count in a short run.
 *
 * @param readerToken - of somebody who may ask for the status
 */
export async function measure(
  loader: Loader,
  service: Service,
  plan: Plan,
  readerToken: string,
): Promise<Measured> {
  const before = cpuSeconds(service.pid);
  let peakRssAnonMiB = 0;
  const look = () => {
    peakRssAnonMiB = Math.max(peakRssAnonMiB, rssAnonMiB(service.pid));
  };
  const sampler = setInterval(look, 50);
  try {
    const report = await loader.run(plan);
    const acknowledged = performance.now();
    await untilCounted(service, readerToken);
    look();
    return {
      ...report,
      countedS: report.elapsedS + (performance.now() - acknowledged) / 1000,
      serviceCpuS: cpuSeconds(service.pid) - before,
      peakRssAnonMiB,
    };
  } finally {
    clearInterval(sampler);
  }
}

/** CPU of an event: of the service, and of what sends it on the same cores. */
export function cpuNote(measured: readonly Measured[]): string {
  const events = measured.reduce((sum, one) => sum + one.events, 0);
  const each = (of: (one: Measured) => number) =>
    number((measured.reduce((sum, one) => sum + of(one), 0) / events) * 1e6);
  return `CPU of an event: ${each((one) => one.serviceCpuS)} µs, and ${each((one) => one.cpuS)} µs of what sends it`;
}
