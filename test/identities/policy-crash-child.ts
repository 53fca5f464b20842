/** Makes one change of the access policy and kills itself after a step. */
import type { PolicyStep } from '../../src/identities/access-policy.ts';
import { alice, forRoles, openPolicy, withRules } from './policy-parts.ts';

const [, , dataDir = '', step = ''] = process.argv;

let isOpen = false;
const { policy } = await openPolicy(dataDir, {
  onStep(done: PolicyStep) {
    if (isOpen && done === step) process.kill(process.pid, 'SIGKILL');
  },
});
isOpen = true;
await policy.replace(withRules(policy.current.rules, forRoles('listAlerts', 'auditor')), alice);
