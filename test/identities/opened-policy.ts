import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ServiceError } from '../../src/errors.ts';
import { forRoles, newFolder, openPolicy, type PolicyOptions, removeFolder } from './policy-parts.ts';

export function folder(): string {
  const dataDir = newFolder();
  onTestFinished(() => removeFolder(dataDir));
  return dataDir;
}

/** Opens the policy for one test; it is closed and the folder removed afterwards. */
export async function opened(dataDir = folder(), options: PolicyOptions = {}) {
  const parts = await openPolicy(dataDir, options);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= parts.close());
  onTestFinished(close);
  const edit = (rules: readonly unknown[], name = 'policy.json') =>
    writeFileSync(join(dataDir, name), JSON.stringify({ rules }));
  return { ...parts, dataDir, close, edit };
}

export const onlyAuditors = forRoles('listAlerts', 'auditor');
/** Returns the result of a change, or the code of its error and the field or reason. */
export const code = (work: Promise<unknown>) =>
  work.catch(({ code, details }: ServiceError) => [code, details?.field ?? details?.reason]);
