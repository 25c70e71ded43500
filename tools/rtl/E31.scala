// A Rocket core with the published parameters of SiFive's E31, as RTL. The timing model is compared with it.
package tress

import chisel3._
import freechips.rocketchip.config.{Config, Parameters}
import freechips.rocketchip.devices.debug.DebugModuleKey
import freechips.rocketchip.diplomacy.LazyModule
import freechips.rocketchip.rocket._
import freechips.rocketchip.subsystem._
import freechips.rocketchip.system.TinyConfig

// 32 bits, 16 KiB of data memory at 0x80000000, an instruction cache of 16 KiB and two ways, branch prediction.
// Addresses from 0x10000000 to 0x80000000 are outside the core: the testbench answers there.
class E31 extends Config(
  new Config((site, here, up) => {
    case RocketTilesKey => up(RocketTilesKey, site).map(tile => tile.copy(
      core = tile.core.copy(
        mulDiv = Some(MulDivParams(mulUnroll = 8, divUnroll = 1, mulEarlyOut = false, divEarlyOut = true))),
      btb = Some(BTBParams()),
      icache = tile.icache.map(_.copy(nSets = 128, nWays = 2))))
    case ExtBus => Some(MasterPortParams(base = 0x10000000L, size = 0x70000000L, beatBytes = 4, idBits = 4))
    case ExtIn => None
    case DebugModuleKey => None
  }) ++ new WithoutTLMonitors ++ new TinyConfig)

class System(implicit p: Parameters) extends RocketSubsystem
    with HasHierarchicalBusTopology
    with HasAsyncExtInterrupts
    with CanHaveMasterAXI4MMIOPort {
  override lazy val module = new SystemModule(this)
}

class SystemModule(outer: System) extends RocketSubsystemModuleImp(outer)
    with HasRTCModuleImp
    with HasExtInterruptsModuleImp {
  global_reset_vector := 0x20400000L.U
}

class Top(implicit p: Parameters) extends Module {
  val system = LazyModule(new System)
  val core = Module(system.module)
  core.tieOffInterrupts()
  val port = core.outer.asInstanceOf[System].mmio_axi4.head
  val io = IO(chiselTypeOf(port))
  io <> port
}

object Generate extends App {
  implicit val p: Parameters = new E31
  Driver.execute(Array("--target-dir", args(0), "--top-name", "Top"), () => new Top)
}
