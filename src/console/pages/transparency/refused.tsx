import type { Fault } from '../../../client/verifier.ts';
import { FaultText } from './check.tsx';
import { Verdict } from './verdict.tsx';

/** Something that does not hold at all: why. */
export function Refused({ fault }: { fault: Fault }) {
  return <Verdict state="bad" title="Refused: this does not verify" about={<FaultText fault={fault} />} />;
}
