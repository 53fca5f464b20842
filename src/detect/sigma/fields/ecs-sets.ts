/** The field sets of the Elastic Common Schema, and additional sets of Packetbeat flows. */
const sets: ReadonlySet<string> = new Set(
  'agent as client cloud container data_stream destination device dll dns ecs email error event faas file flow geo group hash host http log network observer orchestrator organization package process registry related rule server service source threat tls transaction trace url user user_agent vulnerability'.split(
    ' ',
  ),
);

/** Fields outside of any set. */
const base: ReadonlySet<string> = new Set(['@timestamp', 'labels', 'message', 'tags']);

/** Returns true if an ECS document can have this name. */
export function isEcsName(name: string): boolean {
  const dot = name.indexOf('.');
  if (dot < 0) return base.has(name);
  const set = name.slice(0, dot);
  return sets.has(set) || set === 'labels';
}
