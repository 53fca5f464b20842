/** Where ATT&CK describes a tactic or a technique; undefined for what is no id of it, which is then no link. */
export function attackPage(id: string): string | undefined {
  const match = /^(TA|T)(\d{4})(?:\.(\d{3}))?$/.exec(id);
  if (match === null) return undefined;
  const [, kind, number, part] = match;
  if (kind === 'TA') return part === undefined ? `https://attack.mitre.org/tactics/TA${number}/` : undefined;
  return `https://attack.mitre.org/techniques/T${number}/${part === undefined ? '' : `${part}/`}`;
}
