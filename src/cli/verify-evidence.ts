import { type CorroborationPolicy, type DatedRoot, datedRoots } from '../client/corroboration.ts';
import { evidenceFields, parseEvidence } from '../client/evidence.ts';
import { AuditFault, unwrap } from '../client/fault.ts';
import { fingerprint, type LogKey } from '../client/key-set.ts';
import { inUse, judge, trustedKeys } from '../client/verdict.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { checkpointPolicy } from './options.ts';
import type { Output } from './output.ts';
import { readText } from './read-input.ts';
import { timestampVerifier } from './timestamps.ts';
import { type OfflineOptions, shownTrust, signerFields, type Trust } from './verify-offline.ts';

/**
 * Computes the verdict on evidence, using the times from the given witnesses and timestamping authorities.
 *
 * @throws AuditFault
 */
export async function verifyEvidence(
  text: string,
  trust: Trust,
  options: OfflineOptions,
  out: Output,
): Promise<ExitCode> {
  const parsed = unwrap(parseEvidence(text));
  const policy = await policyOf(options);
  const times = datedRoots(parsed, inUse(trustedKeys(parsed, trust.keys)), policy);
  const dated = times.filter((one): one is DatedRoot => !(one instanceof AuditFault));
  const rejected = times.filter((one) => one instanceof AuditFault);
  const verdict = judge(parsed, trust.keys, dated);
  const { convicts, reason, signers, basis } = verdict;
  const { code, message, log, foundAt } = parsed;
  const lines = [
    convicts ? `Convicts the ${holderOf(signers)}: ${reason}.` : `Does not convict by itself: ${reason}.`,
    ...basis,
    `found        ${code}: ${message}`,
    `log          ${log}, on ${foundAt}`,
    ...signers.map((key) => `signed by    ${key.kid} (${key.purpose}), fingerprint ${fingerprint(key)}`),
    ...rejected.map((fault) => `not counted  ${fault.code}: ${fault.message}`),
    ...(trust.from === 'file'
      ? [
          'The pinned keys come from the file: the evidence convicts a log only if all these fingerprints belong to that log.',
        ]
      : []),
  ];
  out.result(lines, {
    status: convicts ? 'convicts' : 'does_not_convict',
    ...evidenceFields(parsed, verdict),
    basis,
    not_counted: rejected.map((fault) => ({ code: fault.code, message: fault.message })),
    signers: signers.map(signerFields),
    keys: shownTrust(trust),
  });
  return convicts ? exitCodes.misbehaviour : exitCodes.refused;
}

async function policyOf(options: OfflineOptions): Promise<CorroborationPolicy> {
  const { tsaCa, quorum, witness = [] } = options;
  if (options.extract !== undefined)
    throw new CommandError('--extract: evidence has no parts to extract; omit it', exitCodes.usage);
  if (quorum !== undefined && (quorum === 0 || quorum > witness.length))
    throw new CommandError('--quorum: must be from 1 to the number of --witness options for evidence', exitCodes.usage);
  const checkpoint = checkpointPolicy(options);
  if (tsaCa === undefined) return { checkpoint };
  const verify = await timestampVerifier(await readText(tsaCa));
  return {
    checkpoint,
    timeOf: (claim) => {
      const token = verify(claim);
      if (token instanceof AuditFault) return token;
      return token === 'untrusted'
        ? new AuditFault('UNTRUSTED_TIMESTAMP', `no certificate in --tsa-ca verifies timestamps of ${claim.authority}`)
        : token.genTimeMs + token.accuracyMs;
    },
  };
}

function holderOf(signers: readonly LogKey[]): string {
  const names = signers.map((key) => fingerprint(key)).join(', ');
  return signers.length === 1 ? `holder of key ${names}` : `holders of keys ${names}`;
}
