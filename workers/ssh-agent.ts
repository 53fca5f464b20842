/** Owns the ssh-agent socket that a `BlockingAgent` waits for. */
import { parentPort, workerData } from 'node:worker_threads';
import { AgentConnection } from '../src/ssh-agent/agent-connection.ts';
import type { BlockingAgentData, SignAnswer, SignOrder } from '../src/ssh-agent/blocking-agent.ts';

const { path, timeoutMs, port, answered }: BlockingAgentData = workerData;
const agent = new AgentConnection(path, timeoutMs);

port.on('message', async ({ seq, publicKey, message }: SignOrder) => {
  const answer: SignAnswer = await agent.sign(publicKey, message).then(
    (signature) => ({ seq, signature }),
    (error: unknown) => ({ seq, error: error instanceof Error ? error.message : String(error) }),
  );
  port.postMessage(answer);
  Atomics.store(answered, 0, seq);
  Atomics.notify(answered, 0);
});
parentPort?.postMessage('ready');
