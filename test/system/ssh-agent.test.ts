/** The running service with its keys in an ssh-agent. */
import { expect, test, vi } from 'vitest';
import { startService, tokenFor } from '../../scripts/service.ts';
import { TestAgent, withoutAgent } from '../ssh-agent/agent.ts';

test.skipIf(withoutAgent !== undefined)(
  'the service reports a missing ssh-agent in /health, keeps serving, and clears the finding once the agent is back',
  async () => {
    const agent = await TestAgent.start();
    agent.provision();
    const service = await startService({
      env: { CANDOR_LEDGER_SIGNER: 'ssh-agent', SSH_AUTH_SOCK: agent.socket },
    });
    try {
      const health = async () => (await (await fetch(`${service.url}/health`)).json()) as Health;
      // Creates a token, which must be logged. While the log cannot sign, the entry waits in the outbox.
      const logged = () => tokenFor(service, 'viewer');
      const head = () => fetch(`${service.url}/api/transparency/sth`);
      await logged();
      await vi.waitFor(async () => expect((await head()).status).toBe(200), { timeout: 60_000 });
      await agent.stop();
      await logged();
      await vi.waitFor(async () => expect(codes(await health())).toEqual(['signer_unavailable']), {
        timeout: 60_000,
        interval: 100,
      });
      expect((await head()).status).toBe(200);
      await agent.start();
      agent.reload();
      await vi.waitFor(async () => expect(codes(await health())).toEqual([]), {
        timeout: 60_000,
        interval: 100,
      });
    } finally {
      await service.stop();
    }
  },
);

interface Health {
  readonly findings?: readonly { readonly code: string }[];
}
const codes = ({ findings = [] }: Health) => findings.map(({ code }) => code);
