import { type OpenTables, table } from '../../database/rows.ts';
import type { GraphState, StepEdges, StepRow } from './graph-tables.ts';

export const topologyTables = {
  /** sequence of the channel `topology` → additions to the graph */
  topologySteps: table<StepRow, number>('topology-steps'),
  /** sequence of a step → its edges */
  topologyStepEdges: table<StepEdges, number>('topology-step-edges'),
  /** number → encoded edges */
  topologySegments: table<Buffer, number>('topology-segments', { encoding: 'binary' }),
  topologyState: table<GraphState, 'graph'>('topology-state'),
};

export type TopologyTables = OpenTables<typeof topologyTables>;
