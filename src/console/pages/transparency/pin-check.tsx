import { AuditFault, type LogKey, type SignedHead } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import { keptPin, pinState } from '../../state/pin.ts';
import { number } from '../../ui/format.ts';
import { Check, FaultText } from './check.tsx';
import { sameTree, useChecked } from './log.ts';

/**
 * Checks that a head is consistent with this browser's pin, with a proof from the log that is verified here.
 * Heads that are not signed by a key of the pin are not compared, because they prove nothing about this log.
 */
export function PinCheck({ head, signed }: { head: SignedHead; signed: LogKey | AuditFault | undefined }) {
  const pinned = pinState.value.kind === 'unknown' ? undefined : keptPin();
  const pin = pinned instanceof AuditFault ? undefined : pinned?.head;
  const isOfLog =
    signed !== undefined &&
    !(signed instanceof AuditFault) &&
    !(pinned instanceof AuditFault) &&
    pinned?.keys.get(signed.kid)?.x === signed.x;
  const names = [head, pin].map((one) => one && `${one.size} ${bytesToHex(one.root)}`);
  const { value } = useChecked<true>(
    ['pin', ...names],
    async () => (pin === undefined ? new AuditFault('MALFORMED_PIN', 'no pin') : sameTree(pin, head)),
    { enabled: pin !== undefined && isOfLog, keep: true },
  );
  if (pinned instanceof AuditFault)
    return (
      <Check state="bad" title="This browser’s pin was altered">
        <FaultText fault={pinned} />
      </Check>
    );
  if (pin === undefined) return <Check state="open" title="This browser has not pinned the log yet" />;
  if (value === undefined) return <Check state="waiting" title="Fetching the proof for this browser’s pin" />;
  if (value instanceof AuditFault)
    return (
      <Check
        state={value.kind === 'misbehaviour' ? 'bad' : 'open'}
        title={
          value.kind === 'misbehaviour'
            ? 'This head contradicts this browser’s pin'
            : 'Not compared with this browser’s pin'
        }
      >
        <FaultText fault={value} />
      </Check>
    );
  const relation =
    head.size === pin.size
      ? 'same tree'
      : head.size > pin.size
        ? `extends it from ${number(pin.size)} to ${number(head.size)}`
        : `covers the first ${number(head.size)} of its ${number(pin.size)} entries`;
  return (
    <Check state="good" title={`Consistent with this browser’s pin: ${relation}`}>
      This browser would detect if the log changed or removed earlier entries.
    </Check>
  );
}
