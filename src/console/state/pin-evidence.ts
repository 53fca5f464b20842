import { type FaultCode, faultCodes } from '../../client/verifier.ts';

/** Evidence that the log contradicted itself. It is kept even if the log is consistent later. */
export interface KeptEvidence {
  readonly code: FaultCode;
  readonly message: string;
  /** Time at which the evidence was found, ISO 8601. */
  readonly at: string;
  /** JSON, as `candor verify` reads it. */
  readonly text: string;
}

/** Parses stored evidence; undefined if it is missing or malformed. */
export function readEvidence(kept: string | null): KeptEvidence | undefined {
  try {
    const { code, message, at, text } = Object(JSON.parse(kept ?? 'null')) as Partial<
      Record<keyof KeptEvidence, unknown>
    >;
    if (typeof message !== 'string' || typeof at !== 'string' || typeof text !== 'string') return undefined;
    return isFaultCode(code) && !Number.isNaN(Date.parse(at)) ? { code, message, at, text } : undefined;
  } catch {
    return undefined;
  }
}

const isFaultCode = (code: unknown): code is FaultCode => typeof code === 'string' && Object.hasOwn(faultCodes, code);
