import { useId } from 'preact/hooks';
import { counted, number } from '../../ui/format.ts';
import type { Leaves, PathStep } from './audit-path.ts';
import { layOut, pathShape } from './tree-layout.ts';
import { countedLeaves, Hatch, spokenLeaves, TreeBlock } from './tree-parts.tsx';
import './tree.css';

interface PathPictureProps {
  readonly leafIndex: number;
  readonly treeSize: number;
  readonly steps: readonly PathStep[];
  /** Number of steps computed so far. */
  readonly done: number;
  /** The selected step, if any. */
  readonly current: number | undefined;
  /** Whether the computed root differs from the signed root. */
  readonly broken: boolean;
  /** The first six digits of each computed node, by step. */
  readonly labels: readonly string[];
  readonly leafLabel: string;
  readonly width: number;
}

/**
 * Diagram of the path from a leaf to the root. Subtrees beside the path are triangles with their number of leaves.
 */
export function PathPicture(props: PathPictureProps) {
  const { leafIndex, treeSize, steps, done, current, broken, labels, leafLabel, width } = props;
  const hatch = useId();
  const picture = layOut(pathShape(leafIndex, treeSize), width);
  const stepOfSibling = new Map(steps.map(({ sibling }, i) => [sibling.from, i]));
  const isOnPath = ({ from, to }: Leaves) => from <= leafIndex && leafIndex < to;
  const known = broken ? 'tree-broken' : 'tree-proven';
  const leaf = picture.blocks.find(isOnPath);
  const labelled = picture.nodes.length <= 12;
  return (
    <svg
      class={`tree ${broken ? 'tree-is-broken' : ''}`}
      viewBox={`0 0 ${picture.width} ${picture.height}`}
      width={picture.width}
      height={picture.height}
      role="img"
      aria-label={
        `Tree of ${counted(treeSize, 'leaf', 'leaves')}, expanded along the path from leaf ${number(leafIndex)} to the root: ` +
        `${counted(steps.length, 'step')}, ${done} of them computed${broken ? ', leading to a different root than the signed one' : ''}`
      }
    >
      <Hatch id={hatch} />
      {picture.nodes.map((node, i) =>
        node.children.map((child) => {
          const onPath = isOnPath(child);
          const state = i < done ? (onPath || !broken ? known : 'tree-used') : 'tree-open';
          return (
            <line
              key={`${node.from} ${node.to} ${child.from}`}
              class={`tree-edge ${state} ${onPath ? 'tree-on-path' : ''}`}
              x1={node.x}
              y1={node.y}
              x2={child.x}
              y2={child.y}
            />
          );
        }),
      )}
      {picture.blocks.map((block) => {
        const step = stepOfSibling.get(block.from);
        const isLeaf = isOnPath(block);
        const state = isLeaf ? known : step !== undefined && step < done ? (broken ? 'tree-used' : known) : 'tree-open';
        return (
          <g key={block.from}>
            <title>
              {isLeaf ? `Leaf ${number(leafIndex)}` : `${spokenLeaves(block)}: hash of step ${(step ?? 0) + 1}`}
            </title>
            <TreeBlock
              block={block}
              baseline={picture.baseline}
              class={`${state} ${isLeaf ? 'tree-leaf' : ''} ${step !== undefined && step === current ? 'tree-current' : ''}`}
              {...(broken && isLeaf && { fill: `url(#${hatch})` })}
            />
          </g>
        );
      })}
      {picture.nodes.map((node, i) => {
        const state = i < done ? known : 'tree-open';
        const isRoot = i === picture.nodes.length - 1;
        const toLeft = node.x > picture.width * 0.6;
        return (
          <g key={`${node.from} ${node.to}`}>
            <title>{`Step ${i + 1}: node over ${spokenLeaves(node)}`}</title>
            <circle
              class={`tree-node ${state} ${i === current ? 'tree-current' : ''}`}
              cx={node.x}
              cy={node.y}
              r={isRoot ? 7 : 5}
              {...(broken && i < done && { fill: `url(#${hatch})` })}
            />
            {labelled && labels[i] !== undefined && i < done && (
              <text
                class={`tree-hash ${state}`}
                x={node.x + (toLeft ? -11 : 11)}
                y={node.y + 4}
                text-anchor={toLeft ? 'end' : 'start'}
              >
                {labels[i]}
              </text>
            )}
          </g>
        );
      })}
      {leaf !== undefined && (
        <text
          class={`tree-hash ${known}`}
          x={leaf.x}
          y={picture.baseline + 33}
          text-anchor={leaf.x < 110 ? 'start' : leaf.x > picture.width - 110 ? 'end' : 'middle'}
        >
          leaf {number(leafIndex)} · {leafLabel}
        </text>
      )}
      <text class="tree-caption" x={picture.root.x} y={12} text-anchor="middle">
        root of {countedLeaves({ from: 0, to: treeSize })}
      </text>
    </svg>
  );
}
