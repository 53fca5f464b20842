import { counted, number } from '../../ui/format.ts';
import type { Leaves } from './audit-path.ts';
import type { ConsistencyWalk } from './old-in-new.ts';
import { boundaryShape, layOut, levelsOf, type Picture, type Point } from './tree-layout.ts';
import { Hatch, spokenLeaves, TreeBlock } from './tree-parts.tsx';
import './tree.css';
import { useId } from 'preact/hooks';

interface ConsistencyPictureProps {
  readonly first: number;
  readonly second: number;
  readonly walk: ConsistencyWalk;
  /** Number of steps computed so far. */
  readonly done: number;
  readonly broken: boolean;
  readonly width: number;
}

/** The earlier tree inside the later one: subtrees of the earlier tree are filled. */
export function ConsistencyPicture({ first, second, walk, done, broken, width }: ConsistencyPictureProps) {
  const hatch = useId();
  const picture = layOut(boundaryShape(first, second), width);
  const old = oldNodes(picture, first);
  const oldRoot = old.at(-1)?.at ?? picture.blocks.find(({ to }) => to === first);
  const stepOf = new Map(walk.steps.map(({ node }, i) => [keyOf(node), i]));
  const isDone = (node: Leaves) => (stepOf.get(keyOf(node)) ?? 0) < done;
  const boundary = picture.blocks.find(({ from }) => from === first);
  const finished = done === walk.steps.length;
  return (
    <svg
      class="tree"
      viewBox={`0 0 ${picture.width} ${picture.height}`}
      width={picture.width}
      height={picture.height}
      role="img"
      aria-label={
        `Tree of ${counted(first, 'leaf', 'leaves')} within the tree of ${counted(second, 'leaf', 'leaves')}: ` +
        picture.blocks.map((block) => `${spokenLeaves(block)} ${block.to <= first ? 'old' : 'new'}`).join(', ')
      }
    >
      <Hatch id={hatch} />
      {boundary !== undefined && (
        <line
          class="tree-boundary"
          x1={boundary.left}
          x2={boundary.left}
          y1={picture.baseline - 24}
          y2={picture.baseline + 24}
        />
      )}
      {picture.nodes.map((node) =>
        node.children.map((child) => (
          <line
            key={`${keyOf(node)} ${child.from}`}
            class={`tree-edge ${isDone(node) ? (broken && finished ? 'tree-broken' : 'tree-proven') : 'tree-open'}`}
            x1={node.x}
            y1={node.y}
            x2={child.x}
            y2={child.y}
          />
        )),
      )}
      {old.map(({ at, children }) =>
        children.map((child) => (
          <line
            key={`${keyOf(at)} ${keyOf(child)}`}
            class="tree-old-edge"
            x1={at.x}
            y1={at.y}
            x2={child.x}
            y2={child.y}
          />
        )),
      )}
      {picture.blocks.map((block) => (
        <g key={block.from}>
          <title>{`${spokenLeaves(block)}, ${block.to <= first ? 'in both trees' : 'only in the later tree'}`}</title>
          <TreeBlock block={block} baseline={picture.baseline} class={block.to <= first ? 'tree-old' : 'tree-new'} />
        </g>
      ))}
      {picture.nodes.map((node, i) => (
        <g key={keyOf(node)}>
          <title>{`Node of the later tree over ${spokenLeaves(node)}`}</title>
          <circle
            class={`tree-node ${isDone(node) ? (broken && finished ? 'tree-broken' : 'tree-proven') : 'tree-open'}`}
            cx={node.x}
            cy={node.y}
            r={i === picture.nodes.length - 1 ? 7 : 5}
            {...(broken && finished && { fill: `url(#${hatch})` })}
          />
        </g>
      ))}
      {old.map(({ at }) => (
        <g key={keyOf(at)}>
          <title>{`Node of the earlier tree over ${spokenLeaves(at)}`}</title>
          <rect class="tree-old-node" x={at.x - 5} y={at.y - 5} width={10} height={10} />
        </g>
      ))}
      <text class="tree-caption" x={picture.root.x} y={12} text-anchor="middle">
        root of {number(second)}
      </text>
      {oldRoot !== undefined && first !== second && (
        <text
          class="tree-hash tree-old-caption"
          x={oldRoot.x < 110 ? 2 : oldRoot.x - 10}
          y={oldRoot.y - 9}
          text-anchor={oldRoot.x < 110 ? 'start' : 'end'}
        >
          root of {number(first)}
        </text>
      )}
    </svg>
  );
}

const keyOf = ({ from, to }: Leaves): string => `${from}-${to}`;

interface OldNode {
  readonly at: Leaves & Point;
  readonly children: readonly [Leaves & Point, Leaves & Point];
}

/**
 * Returns the nodes of the earlier tree that are not in the later tree: they combine the complete subtrees of the
 * earlier tree, from right to left. Each node is placed at its level, centred over its children.
 */
export function oldNodes(picture: Picture, first: number): OldNode[] {
  const edge = picture.blocks.filter(({ to }) => to <= first);
  const row = (picture.baseline - picture.root.y) / Math.max(1, levelsOf({ from: 0, to: picture.blocks.at(-1)!.to }));
  const nodes: OldNode[] = [];
  let right: Leaves & Point = edge.at(-1)!;
  for (const left of edge.slice(0, -1).reverse()) {
    const span = { from: left.from, to: right.to };
    const at = { ...span, x: (left.x + right.x) / 2, y: picture.baseline - levelsOf(span) * row };
    nodes.push({ at, children: [left, right] });
    right = at;
  }
  return nodes;
}
