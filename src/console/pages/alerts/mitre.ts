/** Returns the ATT&CK page of a tactic or technique; undefined if the id is not valid. */
export function attackPage(id: string): string | undefined {
  const match = /^(TA|T)(\d{4})(?:\.(\d{3}))?$/.exec(id);
  if (match === null) return undefined;
  const [, kind, number, part] = match;
  if (kind === 'TA') return part === undefined ? `https://attack.mitre.org/tactics/TA${number}/` : undefined;
  return `https://attack.mitre.org/techniques/T${number}/${part === undefined ? '' : `${part}/`}`;
}
