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

/** Maximum attempts of a check whose pin changes while the check runs. After that, the next scheduled check decides. */
const maxTries = 4;

/**
 * Checks the stored pin and passes the verdict to `take`. If the pin was replaced while the check ran, the verdict is
 * about the old pin, and the new pin is checked instead. Resolves to undefined if the pin keeps changing.
 *
 * @param kept - returns the pin as stored; null if there is no pin
 * @param take - called synchronously with the verdict, while the checked pin is still stored
 */
export async function takeVerdict<Verdict, Taken>(
  kept: () => string | null,
  check: (pin: string | null) => Promise<Verdict>,
  take: (verdict: Verdict) => Taken,
): Promise<Taken | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const pin = kept();
    const verdict = await check(pin);
    if (kept() === pin) return take(verdict);
  }
  return undefined;
}

/** Texts stored by name for later visits. */
interface KeptTexts {
  get(name: string): string | null;
  set(name: string, text: string): void;
  remove(name: string): void;
}

/**
 * Stores texts in browser storage. If the storage is blocked or full, texts are held in memory for this visit.
 *
 * @param storage - called for each access, because browsers that block storage throw when it is referenced
 */
export function keptTexts(storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): KeptTexts {
  const held = new Map<string, string | null>();
  const change = (name: string, text: string | null): void => {
    try {
      if (text === null) storage().removeItem(name);
      else storage().setItem(name, text);
      held.delete(name);
    } catch {
      held.set(name, text);
    }
  };
  return {
    get: (name) => {
      const own = held.get(name);
      if (own !== undefined) return own;
      try {
        return storage().getItem(name);
      } catch {
        return null;
      }
    },
    set: change,
    remove: (name) => change(name, null),
  };
}
