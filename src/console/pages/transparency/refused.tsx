import type { AuditFault } from '../../../client/verifier.ts';
import { FaultText } from './check.tsx';
import { Verdict } from './verdict.tsx';

/** Shows why the verification failed. */
export function Refused({ fault }: { fault: AuditFault }) {
  return <Verdict state="bad" title="Verification failed" about={<FaultText fault={fault} />} />;
}
