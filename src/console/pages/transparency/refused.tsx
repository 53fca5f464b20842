import type { Fault } from '../../../client/verifier.ts';
import { FaultText } from './check.tsx';
import { Verdict } from './verdict.tsx';

/** Shows why something did not verify. */
export function Refused({ fault }: { fault: Fault }) {
  return <Verdict state="bad" title="Verification failed" about={<FaultText fault={fault} />} />;
}
