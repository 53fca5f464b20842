import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Service } from '../../scripts/service.ts';
import { number } from '../page.ts';
import { cpuSeconds, rssAnonMiB } from '../peers/process-use.ts';
import { untilCounted } from '../until-counted.ts';
import type { Plan, Report } from './plan.ts';

export interface Loader {
  /** Runs one plan at a time. Rejects if a response was neither an acknowledgement nor a refusal. */
  run(plan: Plan): Promise<Report>;
  stop(): Promise<void>;
}

/** Starts a process that ends when this process ends, because the channel between them then closes. */
export function startLoader(): Loader {
  const child = fork(new URL('./child.ts', import.meta.url), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // Advanced serialization, because times are NaN if there was no request, which JSON cannot represent.
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
  /** Time until detection and statistics had also processed all events. */
  readonly countedS: number;
  /** CPU time of the service until `countedS`. */
  readonly serviceCpuS: number;
  readonly peakRssAnonMiB: number;
}

/**
 * Follows the plan, then waits until the service has processed all events. The service acknowledges events once stored,
 * so a short run would otherwise omit deferred work.
 *
 * @param readerToken - a token that may read the status
 */
export async function measure(loader: Loader, service: Service, plan: Plan, readerToken: string): Promise<Measured> {
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

/** Formats the CPU time per event: of the service, and of the load generator on the same cores. */
export function cpuNote(measured: readonly Measured[]): string {
  const events = measured.reduce((sum, one) => sum + one.events, 0);
  const each = (of: (one: Measured) => number) =>
    number((measured.reduce((sum, one) => sum + of(one), 0) / events) * 1e6);
  return `CPU per event: ${each((one) => one.serviceCpuS)} µs, and ${each((one) => one.cpuS)} µs in the load generator`;
}
