package entry

import "debug/dwarf"

// form is how a value is encoded (DWARF 5, 7.5.6).
type form uint32

const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formIndirect      form = 0x16
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	formGNUAddrIndex  form = 0x1f01 // formAddrx and formStrx before DWARF 5
	formGNUStrIndex   form = 0x1f02
	formGNURefAlt     form = 0x1f20
	formGNUStrpAlt    form = 0x1f21
)

// sizes are those of forms that are the same in all units.
var sizes = map[form]int{formData1: 1, formData2: 2, formData4: 4, formData8: 8, formData16: 16, formFlag: 1, formFlagPresent: 0,
	formImplicitConst: 0, formRef1: 1, formRef2: 2, formRef4: 4, formRef8: 8, formRefSig8: 8, formRefSup4: 4, formRefSup8: 8,
	formStrx1: 1, formStrx2: 2, formStrx3: 3, formStrx4: 4, formAddrx1: 1, formAddrx2: 2, formAddrx3: 3, formAddrx4: 4}

// size returns how many bytes a form has, -1 when that depends on the value.
func (k abbrevKey) size(f form) int {
	offset := 4
	if k.wide {
		offset = 8
	}
	switch f {
	case formAddr:
		return k.addr
	case formRefAddr:
		if k.version < 3 {
			return k.addr
		}
		return offset
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return offset
	}
	if n, ok := sizes[f]; ok {
		return n
	}
	return -1
}

// classOf returns the class of a value as debug/dwarf has it; ClassUnknown for forms that are not known, and for
// formIndirect.
func classOf(f form, attr dwarf.Attr, version int) dwarf.Class {
	switch f {
	case formAddr, formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return dwarf.ClassAddress
	case formBlock1, formBlock2, formBlock4, formBlock:
		if mayBeExpression[attr] {
			return dwarf.ClassExprLoc
		}
		return dwarf.ClassBlock
	case formData1, formData2, formData4, formData8, formSdata, formUdata, formData16, formImplicitConst:
		if class := pointerClass[attr]; version < 4 && class != 0 {
			return class
		}
		return dwarf.ClassConstant
	case formFlag, formFlagPresent:
		return dwarf.ClassFlag
	case formRefAddr, formRef1, formRef2, formRef4, formRef8, formRefUdata, formRefSup4, formRefSup8:
		return dwarf.ClassReference
	case formRefSig8:
		return dwarf.ClassReferenceSig
	case formString, formStrp, formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formStrpSup, formLineStrp, formGNUStrIndex:
		return dwarf.ClassString
	case formSecOffset:
		return pointerClass[attr]
	case formExprloc:
		return dwarf.ClassExprLoc
	case formGNURefAlt:
		return dwarf.ClassReferenceAlt
	case formGNUStrpAlt:
		return dwarf.ClassStringAlt
	case formLoclistx:
		return dwarf.ClassLocList
	case formRnglistx:
		return dwarf.ClassRngList
	}
	return dwarf.ClassUnknown
}

// mayBeExpression are the attributes whose blocks are expressions before DWARF 4 (DWARF 4, figure 20).
var mayBeExpression = map[dwarf.Attr]bool{dwarf.AttrLocation: true, dwarf.AttrByteSize: true, dwarf.AttrBitOffset: true,
	dwarf.AttrBitSize: true, dwarf.AttrStringLength: true, dwarf.AttrLowerBound: true, dwarf.AttrReturnAddr: true,
	dwarf.AttrStrideSize: true, dwarf.AttrUpperBound: true, dwarf.AttrCount: true, dwarf.AttrDataMemberLoc: true,
	dwarf.AttrFrameBase: true, dwarf.AttrSegment: true, dwarf.AttrStaticLink: true, dwarf.AttrUseLocation: true,
	dwarf.AttrVtableElemLoc: true, dwarf.AttrAllocated: true, dwarf.AttrAssociated: true, dwarf.AttrDataLocation: true,
	dwarf.AttrStride: true}

// pointerClass is the class of an offset into another section, by attribute.
var pointerClass = map[dwarf.Attr]dwarf.Class{dwarf.AttrLocation: dwarf.ClassLocListPtr, dwarf.AttrStmtList: dwarf.ClassLinePtr,
	dwarf.AttrStringLength: dwarf.ClassLocListPtr, dwarf.AttrReturnAddr: dwarf.ClassLocListPtr,
	dwarf.AttrStartScope: dwarf.ClassRangeListPtr, dwarf.AttrDataMemberLoc: dwarf.ClassLocListPtr,
	dwarf.AttrFrameBase: dwarf.ClassLocListPtr, dwarf.AttrMacroInfo: dwarf.ClassMacPtr, dwarf.AttrSegment: dwarf.ClassLocListPtr,
	dwarf.AttrStaticLink: dwarf.ClassLocListPtr, dwarf.AttrUseLocation: dwarf.ClassLocListPtr,
	dwarf.AttrVtableElemLoc: dwarf.ClassLocListPtr, dwarf.AttrRanges: dwarf.ClassRangeListPtr,
	dwarf.AttrStrOffsetsBase: dwarf.ClassStrOffsetsPtr, dwarf.AttrAddrBase: dwarf.ClassAddrPtr,
	dwarf.AttrRnglistsBase: dwarf.ClassRngListsPtr, dwarf.AttrLoclistsBase: dwarf.ClassLocListPtr}
