import {
  AuditFault,
  type Bundle,
  type KeySet,
  parseBundleProofs,
  verifyBundleProofs,
} from '../../../client/verifier.ts';
import { counted } from '../../ui/format.ts';
import { Check, FaultText } from './check.tsx';

/**
 * Verification results for the checkpoint and timestamps of a bundle. RFC 3161 tokens need X.509, which
 * browsers do not offer to pages.
 */
export function BundleProofsShown({ text, bundle, keys }: { text: string; bundle: Bundle; keys: KeySet }) {
  const proofs = parseBundleProofs(text);
  const proven = proofs instanceof AuditFault ? proofs : verifyBundleProofs(bundle, proofs, keys);
  if (proven instanceof AuditFault)
    return (
      <ul class="checks panel">
        <Check state="bad" title="Checkpoint or timestamps are not valid for this entry">
          <FaultText fault={proven} />
        </Check>
      </ul>
    );
  const { checkpoint, notBefore, notAfter } = proven;
  const timestamps = notBefore.length + notAfter.length;
  return (
    <ul class="checks panel">
      {checkpoint === undefined ? (
        <Check state="open" title="No checkpoint">
          Proofs that were created by an earlier version, or while the log was degraded, have no checkpoint.
        </Check>
      ) : (
        <Check
          state="good"
          title={`Covered by the signed checkpoint at ${counted(checkpoint.size, 'entry', 'entries')}`}
        >
          <bdi>{checkpoint.origin}</bdi>.{' '}
          {checkpoint.published
            ? 'Verify cosignatures on the command line with --witness.'
            : 'Signed for this bundle, because the published checkpoint did not cover the entry yet.'}
        </Check>
      )}
      {timestamps > 0 && (
        <Check state="open" title={`${counted(timestamps, 'authority timestamp')}, not verified here`}>
          Bound to this entry. Verify with <span class="mono">candor verify --tsa-ca</span>.
        </Check>
      )}
    </ul>
  );
}
