/** Sends lines over TCP to a daemon that does not reply: the only limit is the receiver's window. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { finished } from 'node:stream/promises';
import type { MovingBodies } from './moving.ts';
import type { Plan, Report } from './plan.ts';

/**
 * Sends the bodies of the plan. Resolves when the system has taken all bytes and every connection is closed. Rejects if
 * the daemon closes a connection earlier.
 */
export async function sendLines(plan: Plan, bodies: MovingBodies): Promise<Report> {
  const { seconds, connections, requests: most = Number.POSITIVE_INFINITY } = plan;
  const { hostname, port } = new URL(plan.url);
  const before = process.cpuUsage();
  const began = performance.now();
  let requests = 0;
  const sender = async () => {
    const socket = connect(Number(port), hostname);
    const closed = finished(socket.resume());
    const closedEarly = closed.then(() => Promise.reject(new Error('the daemon closed the connection')));
    closedEarly.catch(() => {});
    await once(socket, 'connect');
    while (requests < most && performance.now() - began < seconds * 1000) {
      requests++;
      // A copy, because `next` modifies bodies in place while this body may still be in the socket's buffer.
      if (!socket.write(Buffer.from(bodies.next()))) await Promise.race([once(socket, 'drain'), closedEarly]);
    }
    socket.end();
    await closed;
  };
  await Promise.all(Array.from({ length: connections }, sender));
  const { user, system } = process.cpuUsage(before);
  return {
    requests,
    events: requests * plan.linesPerBody,
    refused: 0,
    elapsedS: (performance.now() - began) / 1000,
    p50Ms: Number.NaN,
    p99Ms: Number.NaN,
    maxMs: Number.NaN,
    lateP99Ms: Number.NaN,
    cpuS: (user + system) / 1e6,
  };
}
