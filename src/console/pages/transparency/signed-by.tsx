import { AuditFault, type KeySet, type LogKey } from '../../../client/verifier.ts';
import { Section } from '../../ui/detail.tsx';
import { FaultText, Tick } from './check.tsx';
import { KeyFacts } from './key-facts.tsx';

/** The signing key, or why the signature is invalid; undefined until keys are available. */
export type Signed = LogKey | AuditFault | undefined;

/** Verification status of a signature, for lists. */
export function SignedTick({ signed, says }: { signed: Signed; says: string }) {
  if (signed === undefined) return <Tick state="waiting" />;
  const isBad = signed instanceof AuditFault;
  return (
    <span title={isBad ? `${signed.code}: ${signed.message}` : says}>
      <Tick state={isBad ? 'bad' : 'good'} />
    </span>
  );
}

/** The signing key, for details. */
export function SignedBy({ signed, keys }: { signed: Signed; keys: KeySet | undefined }) {
  return (
    <Section title="Signed by">
      {signed === undefined ? (
        <Tick state="waiting" />
      ) : signed instanceof AuditFault ? (
        <FaultText fault={signed} />
      ) : (
        <KeyFacts of={signed} {...(keys && { keys })} />
      )}
    </Section>
  );
}
