import { Fault, type LogKey, type SignedHead } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import { keptPin, pinState } from '../../state/pin.ts';
import { number } from '../../ui/format.ts';
import { Check, FaultText } from './check.tsx';
import { sameTree, useChecked } from './log.ts';

/**
 * Whether a head is of the tree that this browser has pinned: the log is asked for the proof, which is verified here. A head
 * that no key signed which the pin knows says nothing of this log, so it is not asked about.
 */
export function PinCheck({ head, signed }: { head: SignedHead; signed: LogKey | Fault | undefined }) {
  const pinned = pinState.value.kind === 'unknown' ? undefined : keptPin();
  const pin = pinned instanceof Fault ? undefined : pinned?.head;
  const isOfLog =
    signed !== undefined &&
    !(signed instanceof Fault) &&
    !(pinned instanceof Fault) &&
    pinned?.keys.get(signed.kid)?.x === signed.x;
  const names = [head, pin].map((one) => one && `${one.size} ${bytesToHex(one.root)}`);
  const { value } = useChecked<true>(
    ['pin', ...names],
    async () => (pin === undefined ? new Fault('MALFORMED_PIN', 'there is none') : sameTree(pin, head)),
    { enabled: pin !== undefined && isOfLog, keep: true },
  );
  if (pinned instanceof Fault)
    return (
      <Check state="bad" title="The pin of this browser was altered">
        <FaultText fault={pinned} />
      </Check>
    );
  if (pin === undefined) return <Check state="open" title="This browser has no pin of the log yet" />;
  if (value === undefined)
    return <Check state="waiting" title="Asking for the proof to this browser's pin" />;
  if (value instanceof Fault)
    return (
      <Check
        state={value.kind === 'misbehaviour' ? 'bad' : 'open'}
        title={
          value.kind === 'misbehaviour'
            ? "This head contradicts this browser's pin"
            : "Not compared with this browser's pin"
        }
      >
        <FaultText fault={value} />
      </Check>
    );
  const relation =
    head.size === pin.size
      ? 'the same tree'
      : head.size > pin.size
        ? `an extension of it, from ${number(pin.size)} to ${number(head.size)}`
        : `what it grew from, ${number(head.size)} of ${number(pin.size)}`;
  return (
    <Check state="good" title={`The head fits this browser's pin: ${relation}`}>
      The log can't show another history to others without this browser noticing.
    </Check>
  );
}
