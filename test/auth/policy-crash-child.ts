/** Makes one change of the access policy and kills itself after a step. */
import type { PolicyStep } from '../../src/auth/access-policy.ts';
import { alice, forRoles, openPolicy, withRules } from './policy-parts.ts';

const [, , dataDir = '', step = ''] = process.argv;

const { policy } = await openPolicy(dataDir, {
  onStep(done: PolicyStep) {
    if (done === step) process.kill(process.pid, 'SIGKILL');
  },
});
await policy.replace(withRules(policy.current.rules, forRoles('listAlerts', 'auditor')), alice);
