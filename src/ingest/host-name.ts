import { hostName } from '../events/host-name.ts';
import { text } from './fields.ts';

/** A field that names a host. Undefined where there is none, or what is there names no host. */
export function hostNameField(value: unknown, field: string): string | undefined {
  const name = text(value, field);
  return name === undefined ? undefined : hostName(name);
}
